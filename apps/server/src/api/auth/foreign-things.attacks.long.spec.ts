import './foreign-things.attacks.spec.js';
