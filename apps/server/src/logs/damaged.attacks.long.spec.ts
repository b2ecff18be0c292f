import './damaged.attacks.spec.js';
