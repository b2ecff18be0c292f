import './mcp-link.spec.js';
