import { longTestsOf } from '@belay/testing';

longTestsOf(() => jest.requireActual('./reviews.spec.js'));
