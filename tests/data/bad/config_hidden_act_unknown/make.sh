config hidden_act '"swoosh"'
