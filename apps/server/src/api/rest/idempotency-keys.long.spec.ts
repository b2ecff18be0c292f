import { longTestsOf } from '@belay/testing';

longTestsOf(() => jest.requireActual('./idempotency-keys.spec.js'));
