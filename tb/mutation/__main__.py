"""``python -m ctm.tb.mutation``: see `command`."""

import sys

from ctm.tb.mutation.command import main

sys.exit(main())
