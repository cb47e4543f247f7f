"""Memory controller: addresses of elements, conversion of their formats, reads and writes."""
