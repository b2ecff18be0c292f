import { longTestsOf } from '@belay/testing';

longTestsOf(() => jest.requireActual('./polling.spec.js'));
