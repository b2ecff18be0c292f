import './uploads.attacks.spec.js';
