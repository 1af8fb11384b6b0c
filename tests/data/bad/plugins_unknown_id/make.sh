mkdir plugins
