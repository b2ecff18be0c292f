import './sign-ins.attacks.spec.js';
