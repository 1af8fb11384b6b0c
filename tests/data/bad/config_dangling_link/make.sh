rm model/config.json && ln -s nowhere model/config.json
