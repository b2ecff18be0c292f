import { longTestsOf } from '@belay/testing';

longTestsOf(() => jest.requireActual('./acp-calls.spec.js'));
