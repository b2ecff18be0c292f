import { longTestsOf } from '@belay/testing';

longTestsOf(() => jest.requireActual('./history-copies.spec.js'));
