"""A plugin of pytest: ``CTM_MUTANT=NAME pytest -p ctm.tb.mutation.plugin ...`` runs tests on a mutant."""

from ctm.tb.mutation.hook import install_from_environment

# Plugins are imported before any test.
install_from_environment()
