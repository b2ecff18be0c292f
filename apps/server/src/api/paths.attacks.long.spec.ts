import './paths.attacks.spec.js';
