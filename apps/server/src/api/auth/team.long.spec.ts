import './team.spec.js';
