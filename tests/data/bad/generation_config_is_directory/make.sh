rm model/generation_config.json && mkdir model/generation_config.json
