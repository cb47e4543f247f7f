"""The process of a job: ``python -m ctm.sim.explore.worker`` responds to the request on its standard input, as JSON.

It imports everything before it reads, so that the response of a waiting process comes soon.
"""

import sys
from pathlib import Path
from tempfile import mkdtemp

from ctm.sim.compiler.python import translate_source
from ctm.sim.compiler.r5xx import compiler as r5xx_compiler
from ctm.sim.compiler.r700 import compiler as r700_compiler
from ctm.sim.explore.request import EXPLORED, REQUEST
from ctm.sim.explore.response import respond

READY = (translate_source, r5xx_compiler, r700_compiler)
"""What would be imported later."""


def main() -> None:
    """Respond to one request."""
    request = REQUEST.validate_json(sys.stdin.buffer.read())
    found = respond(request, Path(mkdtemp(dir=Path.cwd())))
    sys.stdout.buffer.write(EXPLORED.dump_json(found))


if __name__ == "__main__":
    main()
