import './limits.attacks.spec.js';
