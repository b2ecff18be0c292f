import './plain-http.attacks.spec.js';
