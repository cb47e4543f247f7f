"""Work of a sweep on workers of Dask."""
