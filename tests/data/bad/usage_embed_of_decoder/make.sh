# The model is sound.
