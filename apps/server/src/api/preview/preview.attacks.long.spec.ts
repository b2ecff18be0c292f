import './preview.attacks.spec.js';
