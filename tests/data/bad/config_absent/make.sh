rm model/config.json
