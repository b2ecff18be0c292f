import './server.attacks.spec.js';
