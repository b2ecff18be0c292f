import { longTestsOf } from '@belay/testing';

longTestsOf(() => jest.requireActual('./kinds.spec.js'));
