import { longTestsOf } from '@belay/testing';

longTestsOf(() => jest.requireActual('./mcp-link.spec.js'));
