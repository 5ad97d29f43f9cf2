/* SPDX-License-Identifier: Apache-2.0 */
/* Runs the digits network on a chip and prints what it sees.
 *   digits FOLDER [CHIP]     FOLDER: models/digits, with digits_int8.tflite, inputs.bin, labels.bin */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <tandem/tandem.h>

enum { SAMPLES = 20, CLASSES = 10, PIXELS = 16 * 16 };

/* Prints what is wrong, and ends the program with the command line's exit status. */
static void check(tandem_status status, char* error) {
    if (status == TANDEM_GOOD) return;
    fprintf(stderr, "digits: %s\n", error);
    tandem_free(error);
    exit((int)status);
}

static void read_file(const char* folder, const char* name, void* into, size_t bytes) {
    char path[1024];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE* file = fopen(path, "rb");
    if (file == NULL || fread(into, 1, bytes, file) != bytes) {
        fprintf(stderr, "digits: %s: expected %zu bytes\n", path, bytes);
        exit(2);
    }
    fclose(file);
}

static int class_of(const int8_t* scores) {
    int best = 0;
    for (int i = 1; i < CLASSES; ++i)
        if (scores[i] > scores[best]) best = i;
    return best;
}

int main(int argc, char** argv) {
    static uint8_t images[SAMPLES * PIXELS], labels[SAMPLES];
    if (argc < 2) {
        fprintf(stderr, "usage: digits FOLDER [CHIP]\n");
        return 2;
    }
    char* error = NULL;
    char file[1024];
    snprintf(file, sizeof file, "%s/digits_int8.tflite", argv[1]);
    const tandem_chip chip = {.size = sizeof chip, .name = argc > 2 ? argv[2] : NULL};
    const tandem_model_options load = {.size = sizeof load, .file = file, .chip = &chip};
    tandem_model* model = NULL;
    check(tandem_model_load(&load, &model, &error), error);

    tandem_tensor image = {.size = sizeof image};
    check(tandem_model_tensor(model, TANDEM_INPUT, 0, &image, &error), error);
    printf("input '%s': %s, %llu bytes a sample\n", image.name, image.dtype, (unsigned long long)image.bytes);
    if (image.bytes > PIXELS) return 2;
    read_file(argv[1], "inputs.bin", images, SAMPLES * (size_t)image.bytes);
    read_file(argv[1], "labels.bin", labels, sizeof labels);

    const tandem_bytes inputs = {images, SAMPLES * image.bytes};
    const tandem_run_options options = {.size = sizeof options, .inputs = &inputs, .input_count = 1};
    tandem_result* result = NULL;
    check(tandem_run(model, &options, &result, &error), error);
    printf("%s", tandem_result_summary(result));

    tandem_tensor scores = {.size = sizeof scores};
    check(tandem_result_tensor(result, TANDEM_OUTPUT, 0, &scores, &error), error);
    int right = 0;
    for (int i = 0; i < SAMPLES; ++i)
        right += class_of((const int8_t*)scores.data + i * CLASSES) == labels[i];
    printf("%d of %d digits are right\n", right, SAMPLES);
    tandem_result_free(result);
    tandem_model_free(model);
    return right * 10 >= SAMPLES * 9 ? 0 : 1;
}
