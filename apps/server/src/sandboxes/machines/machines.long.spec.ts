import { longTestsOf } from '@belay/testing';

longTestsOf(() => jest.requireActual('./machines.spec.js'));
