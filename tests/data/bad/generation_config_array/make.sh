echo [] >model/generation_config.json
