"""``python -m ctm.tb.verify``: see `command`."""

import sys

from ctm.tb.verify.command import main

sys.exit(main())
