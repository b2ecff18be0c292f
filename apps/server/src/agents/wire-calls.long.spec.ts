import { longTestsOf } from '@belay/testing';

longTestsOf(() => jest.requireActual('./wire-calls.spec.js'));
