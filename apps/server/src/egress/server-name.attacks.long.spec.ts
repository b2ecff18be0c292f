import './server-name.attacks.spec.js';
