import { longTestsOf } from '@belay/testing';

longTestsOf(() => jest.requireActual('./strangers-texts.attacks.spec.js'));
