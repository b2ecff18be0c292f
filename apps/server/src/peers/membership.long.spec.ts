import { longTestsOf } from '@belay/testing';

longTestsOf(() => jest.requireActual('./membership.spec.js'));
