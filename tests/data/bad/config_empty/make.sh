: >model/config.json
