"""Imports the mutant that the environment names instead of its file; Python imports this at its start."""

import os

if os.environ.get("CTM_MUTANT"):
    from ctm.tb.mutation.hook import AlreadyImportedError, install_from_environment

    try:
        install_from_environment()
    except (ValueError, AlreadyImportedError) as error:
        # Python would go on without it.
        raise SystemExit(str(error)) from None
