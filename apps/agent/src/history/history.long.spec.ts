import { longTestsOf } from '@belay/testing';

longTestsOf(() => jest.requireActual('./history.spec.js'));
