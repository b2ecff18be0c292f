import { longTestsOf } from '@belay/testing';

longTestsOf(() => jest.requireActual('./tokens.store.spec.js'));
