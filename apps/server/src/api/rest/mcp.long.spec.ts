import { longTestsOf } from '@belay/testing';

longTestsOf(() => jest.requireActual('./mcp.spec.js'));
