import './incoming-workspaces.spec.js';
