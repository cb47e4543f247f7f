"""Writes the inputs of all examples: python -m ctm.examples.make_inputs."""

import numpy as np

from ctm.examples.catalogue import FOLDER, R700_REFERENCES, REFERENCES
from ctm.examples.r700.torus import torus


def main() -> None:
    """Write every input beside its example."""
    for name, reference in {**REFERENCES, **R700_REFERENCES, "r700/torus": torus}.items():
        for file, array in reference.inputs().items():
            np.save(FOLDER / name / file, array)


if __name__ == "__main__":
    main()
