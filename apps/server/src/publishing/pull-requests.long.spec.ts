import './pull-requests.spec.js';
