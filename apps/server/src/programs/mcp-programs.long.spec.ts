import { longTestsOf } from '@belay/testing';

longTestsOf(() => jest.requireActual('./mcp-programs.spec.js'));
