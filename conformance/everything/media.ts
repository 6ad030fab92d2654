/** The smallest files of their kind, as base64: what the fixture's tools, prompts and resources hand out. */

/** A PNG image of four pixels. */
export const pngBase64 =
  "iVBORw0KGgoAAAANSUhEUgAAAAIAAAACCAIAAAD91JpzAAAAF0lEQVR42mOQz3/9//9/hv///8vnvwYAPOoI7UYAhIMAAAAASUVORK5CYII="

/** A WAV file of two milliseconds. */
export const wavBase64 = "UklGRjQAAABXQVZFZm10IBAAAAABAAEAQB8AAEAfAAABAAgAZGF0YRAAAACAqryqgFZEVoCqvKqAVkRW"
