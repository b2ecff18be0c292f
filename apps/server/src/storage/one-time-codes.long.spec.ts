import { longTestsOf } from '@belay/testing';

longTestsOf(() => jest.requireActual('./one-time-codes.spec.js'));
