rm model/config.json && mkdir model/config.json
