"""Constants of the array, loaded when they are missed."""
