import './install.attacks.spec.js';
