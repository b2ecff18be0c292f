import { describeDocsPages } from './describe-docs-pages.js';

// docs.long.container.ts runs the other pages.
describeDocsPages(['mcp-server.md']);
