echo no >model/generation_config.json
