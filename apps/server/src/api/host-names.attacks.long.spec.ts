import './host-names.attacks.spec.js';
