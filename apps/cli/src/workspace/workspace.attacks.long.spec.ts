import './workspace.attacks.spec.js';
