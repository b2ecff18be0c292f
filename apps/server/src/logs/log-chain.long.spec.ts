import { longTestsOf } from '@belay/testing';

longTestsOf(() => jest.requireActual('./log-chain.spec.js'));
